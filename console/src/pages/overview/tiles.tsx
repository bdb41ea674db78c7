import type { ComponentChildren } from 'preact'
import type { Fleet, HistoryEntry, LoginLocks, Replica } from '#client'
import { addressOf } from '../../address.ts'
import { Revision } from '../../components/live/revision.tsx'
import { daysLeft, expiryDays, firstToExpire } from '../../lib/live/attention.ts'
import { formatDuration } from '../../lib/live/durations.ts'
import { perMinute, type TrafficHistory } from '../../lib/live/traffic.ts'
import { formatNumber } from '../../lib/numbers.ts'
import { formatDate } from '../../lib/times.ts'
import { language } from '../../state/preferences.ts'
import { useStore } from '../../state/store.ts'
import { useTexts } from '../../texts/texts.ts'
import { texts as bilingual } from './texts.ts'

interface TilesProps {
  readonly fleet: Fleet
  /** Absent until they are known. */
  readonly locks: LoginLocks | undefined
  readonly history: TrafficHistory
  readonly lastMove: HistoryEntry | undefined
}

/** The numbers that operators look at first. Each leads to the page that explains it. */
export function Tiles({ fleet, locks, history, lastMove }: TilesProps) {
  const texts = useTexts(bilingual)
  const { revision, counts, replicas, source } = fleet
  const { lost, behind, stale } = counts
  const problems = [
    lost > 0 && texts.lost(lost),
    behind > 0 && texts.behind(behind),
    stale > 0 && texts.stale(stale),
  ].filter((each) => each !== false)
  const isPublishedBy = lastMove !== undefined && lastMove.revision === revision
  return (
    <dl class="tiles">
      <Tile
        title={texts.tiles.policy}
        page={source === 'redis' ? 'changes' : 'open'}
        detail={
          isPublishedBy
            ? texts.publishedBy(lastMove.author)
            : source === 'gateway' && texts.fromFiles
        }
      >
        {revision === null ? texts.nothingPublished : <Revision of={revision} />}
      </Tile>
      <Tile
        title={texts.tiles.replicas}
        page="fleet"
        detail={problems.length === 0 ? texts.allCurrent : problems.join(', ')}
        isBad={problems.length > 0 || replicas.length === 0}
      >
        {`${counts.current}/${replicas.length}`}
      </Tile>
      <Requests history={history} />
      <Tile
        title={texts.tiles.lockouts}
        page="logins"
        detail={locks?.lockouts.length === 0 ? texts.noLockouts : texts.lockoutsHint}
      >
        {locks?.lockouts.length ?? '–'}
      </Tile>
      <Keys replicas={replicas} />
      <Certificate replicas={replicas} />
    </dl>
  )
}

interface TileProps {
  readonly title: string
  readonly page: string
  readonly detail: ComponentChildren
  readonly isBad?: boolean
  readonly children: ComponentChildren
}

function Tile({ title, page, detail, isBad, children }: TileProps) {
  return (
    <div class={isBad ? 'tile bad' : 'tile'}>
      <dt>
        <a href={addressOf(page)}>{title}</a>
      </dt>
      <dd class="tile-value">{children}</dd>
      {detail && <dd class="detail">{detail}</dd>}
    </div>
  )
}

function Requests({ history }: { history: TrafficHistory }) {
  const texts = useTexts(bilingual)
  const sums = perMinute(history).at(-1)
  const {
    passed = 0,
    denied = 0,
    unidentified = 0,
    limited = 0,
    refused = 0,
    failed = 0,
  } = sums ?? {}
  const no = denied + unidentified + limited + refused
  return (
    <Tile
      title={texts.tiles.requests}
      page="decisions"
      detail={
        sums && [texts.refused(no), failed > 0 && texts.failed(failed)].filter(Boolean).join(', ')
      }
      isBad={failed > 0}
    >
      {sums === undefined ? '–' : formatNumber(passed + no + failed)}
    </Tile>
  )
}

function Keys({ replicas }: { replicas: readonly Replica[] }) {
  const texts = useTexts(bilingual)
  const reader = useStore(language)
  const all = presentFacts(replicas).map(({ keys }) => keys)
  const signers = [...new Set(all.map(({ signer }) => signer))]
  const [first] = all
  if (first === undefined) return null
  const loaded = Math.min(...all.map(({ since }) => Date.parse(since)))
  const age = formatDuration(reader, (Date.now() - loaded) / 1000)
  const [signer] = signers
  return (
    <Tile
      title={texts.tiles.keys}
      page="fleet"
      detail={first.count > 0 ? texts.keyAge(first.count, age) : texts.secretAge(age)}
      isBad={signers.includes(null) || all.some(({ rejected }) => rejected)}
    >
      {signers.length > 1 ? texts.severalSigners : signer ? <code>{signer}</code> : texts.noSigner}
    </Tile>
  )
}

function Certificate({ replicas }: { replicas: readonly Replica[] }) {
  const texts = useTexts(bilingual)
  const reader = useStore(language)
  const replica = firstToExpire(replicas.filter(({ state }) => state !== 'lost'))
  const days = replica && daysLeft(replica, Date.now())
  if (replica === undefined || days === undefined) {
    return (
      <Tile title={texts.tiles.certificate} page="fleet" detail={texts.noCertificateHint}>
        {texts.noCertificate}
      </Tile>
    )
  }
  return (
    <Tile
      title={texts.tiles.certificate}
      page="fleet"
      detail={days <= 0 ? texts.expired : texts.daysLeft(Math.floor(days))}
      isBad={days <= expiryDays}
    >
      {formatDate(reader, replica.facts?.certificate?.notAfter ?? '')}
    </Tile>
  )
}

function presentFacts(replicas: readonly Replica[]) {
  return replicas.flatMap(({ state, facts }) => (state === 'lost' || !facts ? [] : [facts]))
}
