import { render } from 'preact'
import { findSession } from './access.ts'
import { App } from './app.tsx'
import { followAddress } from './router.ts'
import { applyPreferences } from './state/preferences.ts'
import './style.css'

applyPreferences()
followAddress()
void findSession()

const root = document.getElementById('app')
if (root !== null) render(<App />, root)
