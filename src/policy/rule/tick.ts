/** Told now and then how much of a long work is done. */
export type Tick = (done: number, total: number) => void
