import { useId } from 'preact/hooks'
import type { Choice } from '../../lib/choices.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { Combobox } from '../combobox.tsx'

export interface Call {
  readonly method: string
  readonly path: string
}

interface CallFieldsProps {
  readonly call: Call
  readonly onCall: (call: Call) => void
  readonly paths: readonly Choice[]
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Method and path of a call. */
export function CallFields({ call, onCall, paths }: CallFieldsProps) {
  const texts = useTexts(commonTexts)
  const id = useId()
  const { method, path } = call
  return (
    <>
      <div class="field narrow">
        <label for={id}>{texts.method}</label>
        <select
          id={id}
          name="method"
          class="mono"
          value={method}
          onChange={(event) => onCall({ path, method: event.currentTarget.value })}
        >
          {(methods.includes(method) ? methods : [...methods, method]).map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </div>
      <Combobox
        label={texts.path}
        name="path"
        value={path}
        onValue={(value) => onCall({ method, path: value })}
        choices={paths}
        placeholder="/api/v1/orders/7"
        size="wide"
        isMono
        isRequired
      />
    </>
  )
}
