import type { Disagreement, PolicyShadow } from '#client'
import { addressOf } from '../../address.ts'
import { Answered } from '../../components/answered.tsx'
import { Change } from '../../components/change.tsx'
import { Facts } from '../../components/facts.tsx'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { questions } from '../../questions.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { useAnswer } from '../../use-answer.ts'
import { RevisionChange } from './revision-change.tsx'
import { texts as bilingual } from './texts.ts'

interface ShadowProps {
  /** How many signatures a policy needs. */
  readonly signatures: number
  readonly onDone: () => void
}

/** What the shadow policy would decide otherwise. */
export function Shadow({ signatures, onDone }: ShadowProps) {
  const texts = useTexts(bilingual)
  const answer = useAnswer(...questions.shadow())
  const reload = () => {
    answer.reload()
    onDone()
  }
  return (
    <section>
      <h2>{texts.shadow}</h2>
      <Answered answer={answer}>
        {(value) =>
          value.shadow === null ? (
            <p>{texts.noShadow}</p>
          ) : (
            <Running answer={value} signatures={signatures} onDone={reload} />
          )
        }
      </Answered>
    </section>
  )
}

interface RunningProps extends ShadowProps {
  readonly answer: Exclude<PolicyShadow, { readonly shadow: null }>
}

function Running({ answer, signatures, onDone }: RunningProps) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  const { shadow, evaluated, wouldDeny, wouldAllow, failed, disagreements } = answer
  const { revision } = shadow
  return (
    <>
      <Facts
        of={[
          [common.revision, <code key="revision">{revision}</code>],
          [texts.why, shadow.message],
          [texts.author, shadow.author],
          [texts.at, <Time key="at" at={shadow.at} />],
          [texts.evaluated, evaluated],
          [texts.wouldDeny, wouldDeny],
          [texts.wouldAllow, wouldAllow],
          [texts.failed, failed === 0 ? undefined : failed],
        ]}
      />
      <div class="actions block">
        <RevisionChange
          label={texts.promote}
          title={texts.promoteTitle}
          effect={texts.promoteEffect}
          operation="policy/promote"
          revision={revision}
          signatures={signatures}
          onDone={onDone}
        />
        <Change
          needs="publisher"
          label={texts.endShadow}
          title={texts.endShadowTitle}
          operation="policy/shadow"
          body={{ end: 'end' }}
          onDone={onDone}
          isDanger
        >
          <p>{texts.endShadowEffect}</p>
        </Change>
      </div>
      <Disagreements disagreements={disagreements} revision={revision} />
    </>
  )
}

interface DisagreementsProps {
  readonly disagreements: readonly Disagreement[]
  readonly revision: string
}

function Disagreements({ disagreements, revision }: DisagreementsProps) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  if (disagreements.length === 0) return null
  return (
    <Table
      caption={texts.disagreements}
      rows={disagreements}
      keyOf={(_, index) => index}
      columns={[
        {
          id: 'would',
          title: texts.would,
          cell: ({ would }) => (
            <span class={would === 'deny' ? 'tag no' : 'tag part'}>{texts.woulds[would]}</span>
          ),
          sort: ({ would }) => would,
        },
        { id: 'role', title: common.role, cell: ({ role }) => role, sort: ({ role }) => role },
        {
          id: 'call',
          title: texts.call,
          cell: ({ role, method, path }) =>
            path === undefined ? (
              method
            ) : (
              <a class="mono" href={addressOf('can', { role, method, path, revision })}>
                {`${method} ${path}`}
              </a>
            ),
        },
        {
          id: 'count',
          title: texts.count,
          cell: ({ count }) => count,
          sort: ({ count }) => count,
          isNumeric: true,
        },
      ]}
    />
  )
}
