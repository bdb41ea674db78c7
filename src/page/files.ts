import type { PageFile } from './reply-page.ts'

const style = `:root {
  color-scheme: light dark;
  --back: #f4f5f7; --card: #fff; --text: #1b1f24; --soft: #57606a; --line: #8b949e;
  --main: #0b5cad; --on-main: #fff; --bad: #b3261e; --bad-back: #fdeceb; --good-back: #e6f4ea;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #101418; --card: #1a2027; --text: #e8ecf1; --soft: #aab4c0; --line: #7d8894;
    --main: #7db7ff; --on-main: #08213d; --bad: #ffb4ab; --bad-back: #42201d; --good-back: #16321f;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; padding: 1rem; display: flex; flex-direction: column; align-items: center;
  justify-content: center; background: var(--back); color: var(--text);
  font: 1rem/1.5 system-ui, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif;
}
main, footer { width: 100%; max-width: 24rem; }
main { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: 1.5rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem; overflow-wrap: anywhere; }
.logo { display: block; max-width: 100%; max-height: 4rem; margin: 0 0 1rem; }
label { display: block; font-weight: 600; margin: .75rem 0 .25rem; }
input, button, .button {
  width: 100%; min-height: 2.75rem; padding: .5rem .75rem; font: inherit; border-radius: .375rem;
  border: 1px solid var(--line);
}
input { background: var(--card); color: var(--text); }
button, .button {
  display: flex; align-items: center; justify-content: center; text-align: center; text-decoration: none; cursor: pointer;
  overflow-wrap: anywhere;
}
button { margin-top: 1.25rem; background: var(--main); color: var(--on-main); border-color: var(--main); font-weight: 600; }
.button { background: transparent; color: var(--text); }
.providers { list-style: none; margin: 0; padding: 0; display: grid; gap: .5rem; }
.links { padding-left: 1.25rem; }
.or { text-align: center; color: var(--soft); margin: 1rem 0; }
a { color: var(--main); }
.hint { color: var(--soft); font-size: .875rem; margin: .25rem 0 0; }
.choices { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: .25rem 0 .5rem; }
.choices a { display: inline-block; padding: .25rem 0; }
#captcha img { display: block; max-width: 100%; height: auto; border-radius: .375rem; background: #fff; }
#captcha audio { display: block; width: 100%; }
.problem, .notice { margin: 0 0 1rem; padding: .75rem; border-radius: .375rem; }
.problem { background: var(--bad-back); color: var(--bad); border-left: .25rem solid var(--bad); }
.notice { background: var(--good-back); }
.unseen { position: absolute; width: 1px; height: 1px; min-height: 0; padding: 0; border: 0; opacity: 0; pointer-events: none; }
footer ul { list-style: none; display: flex; justify-content: center; gap: 1rem; padding: 0; margin: 1rem 0 0; }
footer a, footer span { display: inline-block; padding: .25rem; }
:focus-visible { outline: 3px solid var(--main); outline-offset: 2px; }
@media (prefers-reduced-motion: no-preference) {
  button, .button, input { transition: outline-offset .1s; }
}
@media (forced-colors: active) { .problem, .notice { border: 1px solid; } }
`

/** Only a convenience: it replaces the captcha without losing what was typed. */
const script = `document.addEventListener('click', async (event) => {
  const link = event.target instanceof Element ? event.target.closest('a[data-captcha]') : null
  if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return
  event.preventDefault()
  try {
    const response = await fetch(link.href, { headers: { Accept: 'text/html' } })
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    const [old, fresh] = [document.getElementById('captcha'), page.getElementById('captcha')]
    if (old === null || fresh === null) throw new Error('no captcha')
    old.replaceWith(document.importNode(fresh, true))
    // The form remembers the choice: after an error, those who listen need the recording again.
    document.forms[0].action = page.forms[0].getAttribute('action')
    document.getElementById('code').focus()
  } catch {
    location.assign(link.href)
  }
})
`

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#0b5cad"/><path d="M9 27V13a7 7 0 0 1 14 0v14z" fill="#fff"/><circle cx="19" cy="19" r="1.6" fill="#0b5cad"/></svg>
`

/** The files of the page, by name. */
export const pageFiles: ReadonlyMap<string, PageFile> = new Map([
  ['style.css', { type: 'text/css; charset=utf-8', bytes: Buffer.from(style) }],
  ['script.js', { type: 'text/javascript; charset=utf-8', bytes: Buffer.from(script) }],
  ['icon.svg', { type: 'image/svg+xml', bytes: Buffer.from(icon) }],
])
