import { useEffect, useState } from 'preact/hooks'
import type { Query } from '../../address.ts'
import { CallFields } from '../../components/access/call-fields.tsx'
import { Combobox } from '../../components/combobox.tsx'
import { type CallerKind, callerKind } from '../../lib/call-question.ts'
import { open } from '../../router.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { useNames, useUsers } from '../../use-names.ts'
import { texts as bilingual } from './texts.ts'

const kinds: readonly CallerKind[] = ['role', 'user', 'anonymous']

/** Asks for a caller and a call. The answer has an address of its own, which can be shared. */
export function QuestionForm({ query }: { query: Query }) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  const names = useNames()
  const [kind, setKind] = useState(callerKind(query))
  const [name, setName] = useState(query['role'] ?? query['user'] ?? '')
  const users = useUsers(kind === 'user' ? name : undefined)
  const [call, setCall] = useState(callIn(query))
  useEffect(() => {
    setKind(callerKind(query))
    setName(query['role'] ?? query['user'] ?? '')
    setCall(callIn(query))
  }, [query])

  const submit = (event: Event) => {
    event.preventDefault()
    const caller = kind === 'anonymous' ? { anonymous: '1' } : { [kind]: name.trim() }
    const { host, domain, revision, other } = query
    open('can', { ...caller, ...call, path: call.path.trim(), host, domain, revision, other })
  }

  return (
    <form class="form" onSubmit={submit}>
      <fieldset class="choice-row whole">
        <legend class="hidden">{texts.caller}</legend>
        {kinds.map((each) => (
          <label key={each}>
            <input
              type="radio"
              name="kind"
              value={each}
              checked={kind === each}
              onChange={() => setKind(each)}
            />
            {texts.kinds[each]}
          </label>
        ))}
      </fieldset>
      {kind !== 'anonymous' && (
        <Combobox
          label={kind === 'role' ? common.role : texts.user}
          name={kind}
          value={name}
          onValue={setName}
          choices={kind === 'role' ? names.roles : users}
          isRequired
        />
      )}
      <CallFields call={call} onCall={setCall} paths={names.paths} />
      <button type="submit" class="primary">
        {texts.ask}
      </button>
    </form>
  )
}

function callIn({ method = 'GET', path = '' }: Query) {
  return { method, path }
}
