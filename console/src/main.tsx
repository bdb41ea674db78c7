import { render } from 'preact'
import { findSession } from './access.ts'
import { askEarly, forgetEarly } from './api.ts'
import { App } from './app.tsx'
import { pageNamed, preload } from './pages.ts'
import { firstQuestions } from './questions.ts'
import { address, followAddress } from './router.ts'
import { hadSession, rememberSession } from './state/had-session.ts'
import { applyPreferences } from './state/preferences.ts'
import { session } from './state/session.ts'
import './style.css'

applyPreferences()
followAddress()
rememberSession()
session.follow(() => session.get() === null && forgetEarly())
void findSession()

// Beside the question who is logged in, not after it. The console computes while the browser loads code.
const { page, query } = address.get()
if (hadSession()) {
  for (const question of firstQuestions(pageNamed(page), query)) askEarly(...question)
}
preload(pageNamed(page))

const root = document.getElementById('app')
if (root !== null) render(<App />, root)
