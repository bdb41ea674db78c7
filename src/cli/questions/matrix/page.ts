/** The style of the page: the names of roles and operations stay in view while the table scrolls. */
export const style = `
:root { color-scheme: light dark; --line: #8884; --head: #f4f4f4; --page: #fff }
@media (prefers-color-scheme: dark) { :root { --head: #222; --page: #141414 } }
* { box-sizing: border-box }
html, body { height: 100%; margin: 0 }
body { display: flex; flex-direction: column; background: var(--page); font: 14px/1.4 system-ui, sans-serif }
header { padding: .6rem 1rem }
h1 { margin: 0; font-size: 1.2rem }
p { margin: .3rem 0 }
.note { font-weight: bold }
label { display: inline-block; margin-right: 1rem }
input { font: inherit; width: 12rem; max-width: 60vw }
ul { margin: .3rem 0; padding: 0; list-style: none; columns: 20rem }
li span { display: inline-block; width: 2.2em; text-align: center; margin-right: .4em }
[role=region] { flex: 1; min-height: 0; overflow: auto; border-top: 1px solid var(--line) }
table { border-collapse: separate; border-spacing: 0; font-size: 13px }
th, td { border-right: 1px solid var(--line); border-bottom: 1px solid var(--line); padding: .15rem .4rem; text-align: center; white-space: nowrap }
thead th { position: sticky; top: 0; z-index: 1; background: var(--head); vertical-align: bottom }
thead th:first-child { left: 0; z-index: 2; text-align: left }
thead span { writing-mode: vertical-rl; text-orientation: sideways; transform: rotate(180deg); max-height: 14rem; overflow: hidden; text-overflow: ellipsis }
tbody th { position: sticky; left: 0; background: var(--head); text-align: left; font-weight: normal; font-family: ui-monospace, monospace; max-width: 60vw; overflow: hidden; text-overflow: ellipsis }
tbody td:nth-child(2) { text-align: left; color: #777 }
tr:hover > * { border-bottom-color: currentColor }
.o { background: #2a92; color: #083 }
.i { background: #28c2; color: #05a }
.e { background: #8882 }
.s { background: #a4d2; color: #72a }
.p { background: #da02; color: #850 }
.d { background: #d002; color: #b00 }
@media (prefers-color-scheme: dark) { .o { color: #6d8 } .i { color: #7bf } .s { color: #c9f } .p { color: #fc6 } .d { color: #f88 } }
@media (max-width: 40rem) { header { padding: .4rem .6rem } tbody th { min-width: 44vw; max-width: 48vw; white-space: normal; overflow-wrap: anywhere } tbody td:nth-child(2), thead th:nth-child(2) { display: none } }
@media print { html, body { height: auto } [role=region] { overflow: visible } thead th, tbody th { position: static } #filters, summary { display: none } details::details-content { content-visibility: visible; block-size: auto } }
`

/** Filters rows and columns. It changes the style sheet, because the page allows no other style. */
export const script = `
const rows = [...document.querySelectorAll('tbody tr')]
const texts = rows.map((row) => row.firstElementChild.textContent.toLowerCase())
const names = [...document.querySelectorAll('thead th')].map((cell) => cell.textContent.toLowerCase())
const sheet = document.styleSheets[0]
const kept = sheet.cssRules.length
const words = (input) => input.value.toLowerCase().split(/\\s+/).filter(Boolean)
document.getElementById('filters').hidden = false
document.getElementById('rows').addEventListener('input', (event) => {
  const wanted = words(event.target)
  rows.forEach((row, at) => { row.hidden = !wanted.every((word) => texts[at].includes(word)) })
})
document.getElementById('columns').addEventListener('input', (event) => {
  const wanted = words(event.target)
  while (sheet.cssRules.length > kept) sheet.deleteRule(kept)
  names.forEach((name, at) => {
    if (at < 2 || wanted.length === 0 || wanted.some((word) => name.includes(word))) return
    sheet.insertRule('tr > :nth-child(' + (at + 1) + ') { display: none }', kept)
  })
})
`
