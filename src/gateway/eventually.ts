/** A value, or a promise of it. */
export type Eventually<T> = T | Promise<T>

/** Calls `next` at once if the value is known. Most are, and `await` would cost each of them a tick. */
export function after<T, R>(
  value: Eventually<T>,
  next: (value: T) => Eventually<R>,
): Eventually<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}
