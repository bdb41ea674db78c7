import { maxDepth } from './limits.ts'
import { quote } from './quote.ts'

/** `components`, `pathItems`, a name, a method: no deeper key is ever shown. */
const indexedDepth = 4

/** An object or array that the scan is in. */
interface Frame {
  /** The keys so far; absent in an array. */
  readonly keys: Set<string> | undefined
  /** The pointer to it; absent below the upper levels. */
  readonly pointer: string | undefined
  /** The pointer to the value that comes next. */
  next: string | undefined
  expectsKey: boolean
  items: number
}

/**
 * Scans a text that JSON.parse accepted for where the keys of the upper levels are, by JSON pointer.
 * Stops at the first doubled key and at excessive depth.
 */
export function scanKeys(text: string) {
  const offsets = new Map<string, number>()
  const stack: Frame[] = []
  let frame: Frame | undefined

  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quotationMark: {
        const end = endOfString(text, at)
        if (frame?.expectsKey) {
          const key = keyText(text.slice(at, end + 1))
          if (frame.keys?.has(key)) {
            return { offsets, problem: { offset: at, message: `duplicate key ${quote(key)}` } }
          }
          frame.keys?.add(key)
          frame.expectsKey = false
          frame.next = below(frame.pointer, key)
          if (frame.next !== undefined) offsets.set(frame.next, at)
        }
        at = end
        break
      }
      case openBrace:
      case openBracket: {
        if (stack.length === maxDepth) {
          return { offsets, problem: { offset: at, message: tooDeep } }
        }
        const isObject = text.charCodeAt(at) === openBrace
        const parent: string | undefined = frame === undefined ? '' : frame.next
        const pointer = stack.length < indexedDepth ? parent : undefined
        frame = {
          keys: isObject ? new Set() : undefined,
          pointer,
          next: isObject ? undefined : below(pointer, '0'),
          expectsKey: isObject,
          items: 0,
        }
        stack.push(frame)
        break
      }
      case closeBrace:
      case closeBracket:
        stack.pop()
        frame = stack.at(-1)
        break
      case comma:
        if (frame === undefined) break
        frame.expectsKey = frame.keys !== undefined
        if (frame.keys === undefined) frame.next = below(frame.pointer, String(++frame.items))
        break
    }
  }
  return { offsets, problem: undefined }
}

/** The message for a file of either format. */
export const tooDeep = `nested more than ${maxDepth} levels deep`

const quotationMark = 0x22
const comma = 0x2c
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

function below(pointer: string | undefined, key: string): string | undefined {
  if (pointer === undefined) return undefined
  return `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

function keyText(literal: string): string {
  return literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1)
}

function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); ; at = text.indexOf('"', at + 1)) {
    let before = at - 1
    while (text.charCodeAt(before) === backslash) before--
    if ((at - before) % 2 === 1) return at
  }
}
