import type { Target } from '../../src/gateway/upstream/target.ts'

/** One request as an exchange sends it; resolves with its status. */
export function askTarget(target: Target): Promise<number> {
  const attempt = target.began()
  return new Promise((resolve, reject) => {
    let found = 0
    const answered = (status: number) => {
      target.ended('answered', attempt, 'a')
      resolve(status)
    }
    target.send(
      {
        method: 'GET',
        path: '/',
        host: undefined,
        headers: [],
        upload: undefined,
        upgrade: undefined,
      },
      {
        sent() {},
        complete: ({ status }) => answered(status),
        head({ status }) {
          found = status
        },
        data: () => true,
        end: () => answered(found),
        upgraded() {},
        failed(error) {
          target.ended('failed', attempt, 'a')
          reject(error)
        },
      },
    )
  })
}
