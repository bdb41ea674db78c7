import { units } from '../operations/duration.ts'

/** `42 s`, `12 min`, `3 h 5 min` or `2 d 4 h`. */
export function formatDuration(ms: number): string {
  const of = (unit: number) => Math.floor(ms / unit)
  if (ms < units.m) return `${of(units.s)} s`
  if (ms < units.h) return `${of(units.m)} min`
  const [large, small] =
    ms < units.d
      ? [`${of(units.h)} h`, `${of(units.m) % 60} min`]
      : [`${of(units.d)} d`, `${of(units.h) % 24} h`]
  return small.startsWith('0') ? large : `${large} ${small}`
}
