import { REQUEST_TARGET } from '../patterns.ts'
import { flag, optionalFile, optionalString, section, text } from '../setting-builders.ts'

export const loginPageSettings = section(
  'Login page for browsers. Without it, every refused request gets JSON.',
  {
    enabled: flag(
      false,
      'Serve the login page, and redirect browsers there that open a protected page without a login. Requires cookie.set.',
    ),
    path: text(
      '/login',
      'Path of the page. Its style sheet, captcha, password change and logout are below it.',
      REQUEST_TARGET,
    ),
    title: optionalString(
      { minLength: 1, maxLength: 100 },
      'Heading of the page. Unset: "Log in", in the language of the reader.',
    ),
    logo: optionalFile(
      'File of a logo above the heading: SVG, PNG or WebP, 256 KiB at most. Unset: no logo.',
    ),
    afterLogin: text(
      '/',
      'Path to open after a login that started on the login page itself.',
      REQUEST_TARGET,
    ),
  },
)
