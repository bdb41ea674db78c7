/** The ways in which servers behind a proxy are known to read a path once more. */
const readings: Readonly<Record<string, (path: string) => string>> = {
  raw: (path) => path,
  'dot segments removed': removeDotSegments,
  'decoded once': decode,
  'decoded twice': (path) => decode(decode(path)),
  'backslash as slash': (path) => removeDotSegments(decode(path).replaceAll('\\', '/')),
  'parameters removed': (path) => removeDotSegments(path.replace(/;[^/]*/g, '')),
  'slashes merged': (path) => path.replace(/\/+/g, '/'),
  'lower case': (path) => path.toLowerCase(),
}

/** Whether the catalogue's editor may still GET this target, however the upstream reads it. */
export function allowedUnderEveryReading(target: string): boolean {
  const [path = ''] = target.split('?')
  return Object.values(readings).every((read) => {
    const once = read(path)
    return mayGet(once) && mayGet(removeDotSegments(once))
  })
}

function mayGet(path: string): boolean {
  return /^\/api\/v1\/(?:public\/.*|articles\/[^/]+|[^/]+\/profile)$/s.test(path)
}

/** RFC 3986 5.2.4. */
function removeDotSegments(path: string): string {
  const out: string[] = []
  for (const segment of path.split('/').slice(1)) {
    if (segment === '..') out.pop()
    else if (segment !== '.') out.push(segment)
  }
  return `/${out.join('/')}`
}

function decode(path: string): string {
  return path.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
}
