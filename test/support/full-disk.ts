import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A file system of its own, so small that it can be filled. */
export interface SmallDisk {
  readonly directory: string
  /** Leaves not one byte. */
  fill(): Promise<void>
  /** Gives back what `fill` took. */
  free(): Promise<void>
  /** Makes it read-only, as a kernel does after an error of the disk. */
  protect(): void
}

/** Why there can be no such disk here: mounting one takes root, and a container may forbid it. */
export function smallDiskProblem(): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'postern-mount-'))
  try {
    mount(directory, 16)
    unmount(directory)
    return undefined
  } catch {
    return 'this user cannot mount a file system'
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** It is gone when the test is. */
export function mountSmallDisk(kilobytes: number): SmallDisk {
  const directory = mkdtempSync(join(tmpdir(), 'postern-disk-'))
  mount(directory, kilobytes)
  onTestFinished(() => {
    unmount(directory)
    rmSync(directory, { recursive: true, force: true })
  })
  const filler = join(directory, 'filler')

  return {
    directory,
    async fill() {
      const handle = await open(filler, 'a')
      try {
        for (let bytes = 4096; bytes >= 1; ) {
          try {
            await handle.write(Buffer.alloc(bytes))
          } catch {
            bytes = Math.floor(bytes / 2)
          }
        }
      } finally {
        await handle.close()
      }
    },
    free: () => rm(filler),
    protect: () => void execFileSync('mount', ['-o', 'remount,ro', directory]),
  }
}

function mount(directory: string, kilobytes: number): void {
  const options = { stdio: 'ignore' } as const
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', directory], options)
}

/** Lazily: a gateway that is still closing may have a file open. */
function unmount(directory: string): void {
  execFileSync('umount', ['-l', directory], { stdio: 'ignore' })
}
