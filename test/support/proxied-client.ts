import { setTimeout as pause } from 'node:timers/promises'
import { authorization } from './rolling-restarts.ts'
import { createServiceClient, type ServiceClient } from './service-client.ts'
import { until } from './until.ts'

/**
 * A client of the proxy on this port, which answers `GET /readyz` itself. `hasNoticed`: whether the
 * proxy uses every gateway that is ready.
 */
export async function createProxiedClient(
  port: number,
  hasNoticed: () => Promise<boolean> = afterASecond,
): Promise<ServiceClient> {
  const proxy = { publicPort: port, opsPort: port }
  const client = createServiceClient([proxy], authorization)
  await client.inRotation(proxy)
  return {
    ...client,
    async inRotation({ opsPort }) {
      await until(() =>
        fetch(`http://127.0.0.1:${opsPort}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        ),
      )
      await until(hasNoticed)
    },
  }
}

async function afterASecond(): Promise<boolean> {
  await pause(1000)
  return true
}
