/** Runs once before every test: the console serves its pages as they are built. */
export async function setup(): Promise<void> {
  await import('../../scripts/console-pages.mjs' as string)
}
