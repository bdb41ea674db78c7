import { Layout } from './frame/layout.tsx'
import { Login } from './login/login.tsx'
import { session } from './state/session.ts'
import { useStore } from './state/store.ts'

/** The login, or the page that the address names. */
export function App() {
  const current = useStore(session)
  if (current === undefined) return null
  return current === null ? <Login /> : <Layout session={current} />
}
