// Writes a Markdown report as a comment on the merge request of this pipeline, and replaces the comment
// of an earlier pipeline. Copy this file to .gitlab/policy-comment.mjs.
import { readFile } from 'node:fs/promises'

const {
  CI_API_V4_URL: api,
  CI_PROJECT_ID: project,
  CI_MERGE_REQUEST_IID: number,
  POLICY_COMMENT_TOKEN: token,
} = process.env

async function call(path, options = {}) {
  const headers = { 'PRIVATE-TOKEN': token, 'Content-Type': 'application/json' }
  const response = await fetch(`${api}/${path}`, { ...options, headers })
  if (!response.ok) throw new Error(`GitLab answered ${response.status} to ${path}`)
  return response.json()
}

const notes = `projects/${project}/merge_requests/${number}/notes`

/** The comment with this first line. Another author could have written the same line. */
async function findNote(marker) {
  const { id: self } = await call('user')
  for (let page = 1; page <= 50; page += 1) {
    const some = await call(`${notes}?per_page=100&page=${page}`)
    const own = some.find(({ author, body }) => author.id === self && body.startsWith(marker))
    if (own !== undefined || some.length < 100) return own
  }
  return undefined
}

const text = await readFile(process.argv[2], 'utf8')
const note = await findNote(text.split('\n', 1)[0])
const body = JSON.stringify({ body: text })
if (note === undefined) await call(notes, { method: 'POST', body })
else await call(`${notes}/${note.id}`, { method: 'PUT', body })
