/** What is wrong with an origin that is to be compared with what browsers send, or `undefined`. */
export function originComplaint(origin: string): string | undefined {
  const written = URL.parse(origin)?.origin
  if (written === origin) return undefined
  const cure = written === undefined ? 'is no origin' : `must be written ${written}`
  return `${cure}: it is compared with what browsers send`
}
