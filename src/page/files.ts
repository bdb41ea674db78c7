import { readFileSync } from 'node:fs'
import type { PageFile } from './reply-page.ts'

/** Reads the files of the page, by name. The script is a convenience: it replaces a captcha without losing what was typed. */
export function readPageFiles(): ReadonlyMap<string, PageFile> {
  return new Map([
    fileOf('text/css; charset=utf-8', new URL('./files/style.css', import.meta.url)),
    fileOf('text/javascript; charset=utf-8', new URL('./files/script.js', import.meta.url)),
    fileOf('image/svg+xml', new URL('./files/icon.svg', import.meta.url)),
  ])
}

function fileOf(type: string, place: URL): readonly [string, PageFile] {
  return [place.pathname.replace(/.*\//, ''), { type, bytes: readFileSync(place) }]
}
