import { ConnectionError, ErrorCode } from '../error-codes.ts'
import lengths from './huffman-lengths.json' with { type: 'json' }

const endOfString = 256
const none = -1

/**
 * From the length in bits of the code of each byte, and of the end of the string (RFC 7541 B). The codes
 * are canonical: consecutive numbers in the order of length, then byte.
 */
function codes(): { readonly code: number; readonly length: number; readonly symbol: number }[] {
  const order = lengths
    .map((length, symbol) => ({ length, symbol }))
    .sort((a, b) => a.length - b.length || a.symbol - b.symbol)
  let code = 0
  let before = order[0]?.length ?? 0
  return order.map(({ length, symbol }) => {
    code *= 2 ** (length - before)
    before = length
    return { code: code++, length, symbol }
  })
}

/**
 * A state is a node of the code's tree. For each state and the next four bits: the state after them,
 * and the byte that they complete, or `none`. No code is shorter than five bits, so there is at most one.
 */
function build() {
  const children: [number, number][] = [[none, none]]
  const symbols: number[] = [none]
  const depths: number[] = [0]
  const onlyOnes: boolean[] = [true]
  for (const { code, length, symbol } of codes()) {
    let node = 0
    for (let bit = length - 1; bit >= 0; bit--) {
      const side = Math.floor(code / 2 ** bit) % 2 === 1 ? 1 : 0
      const pair = children[node] as [number, number]
      if (pair[side] === none) {
        pair[side] = children.length
        children.push([none, none])
        symbols.push(none)
        depths.push((depths[node] as number) + 1)
        onlyOnes.push(side === 1 && onlyOnes[node] === true)
      }
      node = pair[side]
    }
    symbols[node] = symbol
  }
  const next = new Int16Array(children.length * 16).fill(none)
  const byte = new Int16Array(children.length * 16).fill(none)
  // A string may end here: after fewer than eight bits, all of them ones (RFC 7541 5.2).
  const mayEnd = Uint8Array.from(onlyOnes, (ones, node) => Number(ones && (depths[node] ?? 8) < 8))
  for (let node = 0; node < children.length; node++) {
    for (let bits = 0; bits < 16; bits++) walk(node, bits)
  }
  return { next, byte, mayEnd }

  function walk(from: number, bits: number): void {
    let node = from
    for (let bit = 3; bit >= 0; bit--) {
      node = children[node]?.[((bits >> bit) & 1) as 0 | 1] ?? none
      const symbol = node === none ? endOfString : (symbols[node] as number)
      if (symbol === endOfString) return
      if (symbol === none) continue
      byte[from * 16 + bits] = symbol
      node = 0
    }
    next[from * 16 + bits] = node
  }
}

let automaton: ReturnType<typeof build> | undefined
/** The shortest code has five bits. */
let scratch = Buffer.allocUnsafe(4096)

/** Decodes a string. Throws if it has the end-of-string code, or padding that is not the start of it. */
export function decodeHuffman(bytes: Buffer, from: number, to: number): string {
  automaton ??= build()
  const { next, byte, mayEnd } = automaton
  const most = Math.ceil(((to - from) * 8) / 5)
  if (scratch.length < most) scratch = Buffer.allocUnsafe(most)
  let node = 0
  let written = 0
  for (let at = from; at < to; at++) {
    const both = bytes[at] as number
    for (let half = 0; half < 2; half++) {
      const index = node * 16 + (half === 0 ? both >> 4 : both & 15)
      node = next[index] as number
      if (node === none) throw invalid()
      const decoded = byte[index] as number
      if (decoded !== none) scratch[written++] = decoded
    }
  }
  if (mayEnd[node] !== 1) throw invalid()
  return scratch.toString('latin1', 0, written)
}

function invalid(): ConnectionError {
  return new ConnectionError(ErrorCode.compressionError, 'invalid Huffman code')
}
