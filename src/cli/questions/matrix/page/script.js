const rows = [...document.querySelectorAll('tbody tr')]
const texts = rows.map((row) => row.firstElementChild.textContent.toLowerCase())
const names = [...document.querySelectorAll('thead th')].map((cell) =>
  cell.textContent.toLowerCase(),
)
const sheet = document.styleSheets[0]
const kept = sheet.cssRules.length
const words = (input) => input.value.toLowerCase().split(/\s+/).filter(Boolean)
document.getElementById('filters').hidden = false
document.getElementById('rows').addEventListener('input', (event) => {
  const wanted = words(event.target)
  rows.forEach((row, at) => {
    row.hidden = !wanted.every((word) => texts[at].includes(word))
  })
})
document.getElementById('columns').addEventListener('input', (event) => {
  const wanted = words(event.target)
  while (sheet.cssRules.length > kept) sheet.deleteRule(kept)
  names.forEach((name, at) => {
    if (at < 2 || wanted.length === 0 || wanted.some((word) => name.includes(word))) return
    sheet.insertRule(`tr > :nth-child(${at + 1}) { display: none }`, kept)
  })
})
