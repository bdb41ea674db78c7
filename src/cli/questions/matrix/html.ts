import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { count, printable } from '../../format.ts'
import { accessWords, cellForms, cellsOf, legend, type Sheet } from './sheet.ts'

/**
 * One page that loads nothing: its policy allows its own style and script only, so that markup in a
 * role key could run nothing even if it were not escaped. The script only filters.
 */
export function formatHtml(sheet: Sheet): string {
  const { policy, roles, operations, notes } = sheet
  const style = readFileSync(new URL('./page/style.css', import.meta.url), 'utf8')
  const script = readFileSync(new URL('./page/script.js', import.meta.url), 'utf8')
  const allowed = `default-src 'none'; style-src ${hashOf(style)}; script-src ${hashOf(script)}; base-uri 'none'; form-action 'none'`
  return [
    '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n',
    `<meta http-equiv="Content-Security-Policy" content="${allowed}">\n`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
    `<title>Access matrix ${escaped(policy)}</title>\n<style>${style}</style>\n`,
    `<header>\n<h1>Access matrix</h1>\n<p>Policy ${escaped(policy)}: ${count(roles.length - 1, 'role')} and admin, ${count(operations.length, 'operation')}.\n`,
    ...notes.map((note) => `<p class="note">${escaped(note)}\n`),
    '<p id="filters" hidden><label>Operations <input id="rows" type="search" placeholder="GET /orders"></label> ',
    '<label>Roles <input id="columns" type="search" placeholder="editor"></label>\n',
    `<details><summary>Legend</summary>\n<ul>\n${legendItems()}</ul>\n</details>\n</header>\n`,
    '<div tabindex="0" role="region" aria-label="Access matrix">\n<table>\n<thead>\n<tr><th scope="col">Operation<th scope="col">Access',
    ...roles.map(
      (roleKey) => `<th scope="col" title="${escaped(roleKey)}"><span>${escaped(roleKey)}</span>`,
    ),
    '\n<tbody>\n',
    ...operations.map((operation) => {
      const { method, path, servedBy } = operation
      const by = servedBy.length === 0 ? '' : ` title="served by ${escaped(servedBy.join(', '))}"`
      const cells = cellsOf(operation, sheet).map((word) => cellTexts[word])
      return `<tr><th scope="row"${by}><b>${escaped(method)}</b> ${escaped(path)}<td>${accessWords(operation).join(', ')}${cells.join('')}\n`
    }),
    `</table>\n</div>\n<script>${script}</script>\n</html>\n`,
  ].join('')
}

const cellTexts = Object.fromEntries(
  Object.entries(cellForms).map(([word, { mark, name }]) => {
    return [word, mark === '' ? '<td>' : `<td class=${name}>${mark}`]
  }),
)

function legendItems(): string {
  return legend
    .filter(([word]) => word !== 'no')
    .map(([word, { mark, name, meaning }]) => {
      return `<li><span class="${name}">${mark}</span> ${word}: ${meaning}\n`
    })
    .join('')
}

function escaped(text: string): string {
  return printable(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
