/** As many digits as commands need to know it by. */
const shortLength = 'r-'.length + 12

/** A revision, shortened; the whole is its title. */
export function Revision({ of }: { of: string }) {
  return <code title={of}>{of.slice(0, shortLength)}</code>
}
