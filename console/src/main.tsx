import { render } from 'preact'
import { findSession } from './access.ts'
import { App } from './app.tsx'
import { pageNamed, preload } from './pages.ts'
import { address, followAddress } from './router.ts'
import { applyPreferences } from './state/preferences.ts'
import './style.css'

applyPreferences()
followAddress()
void findSession()
// Beside the question who is logged in, not after it.
preload(pageNamed(address.get().page))

const root = document.getElementById('app')
if (root !== null) render(<App />, root)
