/** The largest public description has 45 MB (Microsoft Graph); JSON of this size takes a second. */
export const maxBytes = 64 * 1024 * 1024

/** YAML takes twenty times the time and memory of JSON. */
export const maxYamlBytes = 16 * 1024 * 1024

/** The parser needs up to 600 bytes for each token. */
export const maxYamlTokens = 3_000_000

/** The deepest real document has 23 levels; parsers are recursive. */
export const maxDepth = 200

/** Values with every alias expanded. A bomb has billions; the tokens above make 1.5 million. */
export const maxYamlNodes = 2_000_000

/** Files that one document may consist of. */
export const maxFiles = 5000

/** `$ref` to `$ref` to `$ref`. */
export const maxReferences = 32

export const maxOperations = 100_000

/** As long as a path pattern of a policy may be. */
export const maxPath = 1024

export function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 / 1024)} MB`
}
