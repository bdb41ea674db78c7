// The values in the chart's README come from values.yaml, where the comment before a value describes it.
import { isMap, parse, parseDocument } from 'yaml'

/** One row for each value; a section has a row of its own if it is described. */
function rowsOf(map, { properties = {} }, path = []) {
  return map.items.flatMap(({ key, value }, index) => {
    const at = [...path, key.value]
    // The comment before the first value of a section belongs to the section's map.
    const comment = key.commentBefore ?? (index === 0 ? map.commentBefore : undefined)
    const own = properties[key.value] ?? {}
    const text = words(comment) || (own.description ?? '')
    if (
      isMap(value) &&
      value.items.length > 0 &&
      own.properties !== undefined &&
      !/Probe$/.test(key.value)
    ) {
      const row = text === '' ? [] : [`| \`${at.join('.')}\` | | ${cell(text)} |`]
      return [...row, ...rowsOf(value, own, at)]
    }
    return [`| \`${at.join('.')}\` | \`${cell(JSON.stringify(value))}\` | ${cell(text)} |`]
  })
}

function words(comment = '') {
  // A blank line ends what was said about something else.
  const last = comment.split('\n\n').at(-1) ?? ''
  return last
    .split('\n')
    .map((line) => line.trim())
    .join(' ')
    .replaceAll(/ {2,}/g, ' ')
    .trim()
}

const cell = (text) => text.replaceAll('|', '\\|')

/** helm/postern/README.md. */
export function helmReadme(read) {
  const { version, kubeVersion, description } = parse(read('helm/postern/Chart.yaml'))
  const schema = JSON.parse(read('helm/postern/values.schema.json'))
  const values = parseDocument(read('helm/postern/values.yaml')).contents
  return `# Postern

${description} This page lists every value of the chart, version ${version}. [docs/deploy.md](../../docs/deploy.md#install-on-kubernetes)
shows how to install and upgrade it.

Requires Kubernetes ${kubeVersion.replace(/^>=(.*?)\.0-0$/, '$1')} or later, Helm 3.6 or later, an image of Postern that you built and pushed, and, for more than one
gateway, PostgreSQL or MySQL and Redis.

\`\`\`yaml
image: { registry: registry.example.com, repository: team/postern }
secrets:
  jwtSecret: { existingSecret: postern }
  databaseUrl: { existingSecret: postern }
  redisUrl: { existingSecret: postern }
config:
  upstreams: { orders: { targets: ['http://orders:8080'] } }
  routes: [{ path: /api/v1/orders, upstream: orders }]
\`\`\`

\`\`\`console not-run
$ helm install shop helm/postern -f values.yaml --wait
$ helm test shop
\`\`\`

\`values-sidecar.yaml\` is for [Postern in the pod of one service](../../docs/sidecar.md).

## Values

\`values.schema.json\` rejects unknown and invalid values. Under \`config\`, every setting of
[config/schema.json](../../config/schema.json) that is not a secret is accepted; listed are those that the chart sets.

| Value | Default | Description |
|---|---|---|
${rowsOf(values, schema).join('\n')}
`
}
