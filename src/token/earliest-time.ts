/**
 * Seconds since the epoch, from before this version was written. A clock that shows less is wrong,
 * and what it would write into a token is, too. Raised with each release.
 */
export const earliestTime = Date.UTC(2026, 10, 1) / 1000
