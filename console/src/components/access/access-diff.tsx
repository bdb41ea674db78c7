import { useState } from 'preact/hooks'
import type { AccessChange, ChangeShare, AccessDiff as Diff } from '#client'
import { addressOf } from '../../address.ts'
import { placeOf } from '../../lib/rule-line.ts'
import { diffTexts } from '../../texts/access-diff.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { Banner } from '../banner.tsx'
import { Time } from '../time.tsx'

interface AccessDiffProps {
  readonly diff: Diff
  /** The new policy is a draft: no page can be asked about it. */
  readonly isDraft?: boolean
}

/** By moment, then gains first, the most severe on top, as the command orders them. */
export function AccessDiff({ diff: { changes, widened, to }, isDraft }: AccessDiffProps) {
  const revision = isDraft ? undefined : to
  const texts = useTexts(diffTexts)
  const gains = changes.filter(({ direction }) => direction === 'gain')
  const losses = changes.filter(({ direction }) => direction === 'loss')
  return (
    <div class="block">
      <Banner kind={widened ? 'warning' : 'info'}>
        {widened
          ? texts.widens(gains.length, losses.length)
          : changes.length === 0
            ? texts.same
            : texts.narrows(losses.length)}
      </Banner>
      {[...Map.groupBy(changes.toSorted(byMoment), ({ startsAt }) => startsAt)].map(
        ([startsAt, group]) => (
          <Moment
            key={startsAt ?? ''}
            startsAt={startsAt}
            changes={group}
            revision={revision}
            isOnly={startsAt === undefined && group.length === changes.length}
          />
        ),
      )}
    </div>
  )
}

function byMoment({ startsAt: one = '' }: AccessChange, { startsAt: other = '' }: AccessChange) {
  return one < other ? -1 : Number(one > other)
}

interface MomentProps {
  /** From when on the changes hold; absent: now. */
  readonly startsAt: string | undefined
  readonly changes: readonly AccessChange[]
  readonly revision: string | undefined
  /** Nothing changes later: the moment needs no name. */
  readonly isOnly: boolean
}

function Moment({ startsAt, changes, revision, isOnly }: MomentProps) {
  const texts = useTexts(diffTexts)
  const [gains, losses] = (['gain', 'loss'] as const).map((wanted) =>
    changes.filter(({ direction }) => direction === wanted),
  )
  return (
    <>
      {!isOnly && (
        <h2>
          {startsAt === undefined ? (
            texts.now
          ) : (
            <>
              {texts.starts} <Time at={startsAt} />
            </>
          )}
        </h2>
      )}
      <Changes title={texts.gains} changes={gains ?? []} revision={revision} />
      <Changes title={texts.losses} changes={losses ?? []} revision={revision} />
    </>
  )
}

interface ChangesProps {
  readonly title: string
  readonly changes: readonly AccessChange[]
  readonly revision: string | undefined
}

/** A first policy has thousands of gains: more would make each change of the page slow. */
const linesAtOnce = 100

function Changes({ title, changes, revision }: ChangesProps) {
  const { showMore } = useTexts(commonTexts)
  const [shown, setShown] = useState(linesAtOnce)
  if (changes.length === 0) return null
  return (
    <section>
      <h2>
        {title} <span class="count">{changes.length}</span>
      </h2>
      <ul class="changes">
        {changes.slice(0, shown).map((change, at) => (
          <li key={at}>
            <ChangedLine change={change} revision={revision} />
          </li>
        ))}
      </ul>
      {changes.length > shown && (
        <button type="button" class="more" onClick={() => setShown(shown + linesAtOnce)}>
          {showMore(Math.min(linesAtOnce, changes.length - shown))}
        </button>
      )}
    </section>
  )
}

interface ChangedLineProps {
  readonly change: AccessChange
  readonly revision: string | undefined
}

function ChangedLine({ change, revision }: ChangedLineProps) {
  const texts = useTexts(diffTexts)
  const { severity, line, origin, roleKey, parentKey, text, until, hasEffect } = change
  return (
    <>
      <p>
        <span class={`tag ${tags[severity]}`}>{texts.severities[severity]}</span>{' '}
        <span class="mono">{line === 'added' ? '+' : '−'}</span>{' '}
        <span class="detail">{placeOf(origin)}</span> {text !== undefined && <code>{text}</code>}
        {parentKey !== undefined && texts.inherits(roleKey ?? '', parentKey)}{' '}
        {until !== undefined && (
          <span class="tag part">
            {texts.until} <Time at={until} />
          </span>
        )}{' '}
        {!hasEffect && <span class="tag">{texts.noEffect}</span>}
      </p>
      {change.shares.map((share, at) => (
        <Share key={at} share={share} revision={revision} />
      ))}
    </>
  )
}

const mostRoles = 20

interface ShareProps {
  readonly share: ChangeShare
  readonly revision: string | undefined
}

function Share({ share, revision }: ShareProps) {
  const texts = useTexts(diffTexts)
  const { roles = [], roleCount, grants } = share
  const shown = roles.slice(0, mostRoles)
  const left = roleCount - shown.length
  return (
    <p>
      <strong>{shown.join(', ')}</strong>
      {left > 0 && ` ${texts.moreRoles(left)}`}:{' '}
      {grants.map(({ methods, path, example }, at) => (
        <span key={`${methods.join()} ${path}`}>
          {at > 0 && ', '}
          {revision === undefined ? (
            <code>{`${methods.join('|')} ${path}`}</code>
          ) : (
            <a
              class="mono"
              href={addressOf('can', { role: shown[0], ...example, revision })}
            >{`${methods.join('|')} ${path}`}</a>
          )}
        </span>
      ))}
    </p>
  )
}

const tags: Readonly<Record<AccessChange['severity'], string>> = {
  superuser: 'no',
  unchecked: 'no',
  wide: 'no',
  changing: 'part',
  reading: 'other',
  uncertain: 'other',
  loss: 'yes',
}
