/** Where feeds and their snapshots write log lines. */
export interface FeedLog {
  info(fields: object, text: string): void
  warn(fields: object, text: string): void
}
