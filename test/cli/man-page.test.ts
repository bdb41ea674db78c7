import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { literal, text } from '../../scripts/generate/roff.ts'
import type { CommandSpec } from '../../src/cli/command.ts'
import { commandSet } from '../../src/cli/commands/table.ts'
import { usages } from '../../src/cli/help.ts'

const file = 'man/postern.1'

describe('man/postern.1', () => {
  test('is the manual page of the package', () => {
    const { man, files } = JSON.parse(readFileSync('package.json', 'utf8'))

    expect(man).toBe(file)
    expect(files).toContain('man')
  })

  const mandoc = hasProgram('mandoc')
  if (!mandoc) leftOut('the check of the manual page by mandoc', 'mandoc')

  test.skipIf(!mandoc)('has no error or warning for mandoc, but for its missing date', () => {
    const { stdout } = spawnSync('mandoc', ['-T', 'lint', '-W', 'warning', file], {
      encoding: 'utf8',
    })

    const complaints = stdout.split('\n').filter((line) => line !== '')
    expect(complaints.filter((line) => !line.includes('missing date'))).toEqual([])
  })

  const man = hasProgram('man') && hasProgram('groff')
  if (!man) leftOut('the manual page in man', 'man-db')

  test.skipIf(!man)('shows every command, option and example as written', async () => {
    const { stdout, stderr } = spawnSync('man', ['--warnings', '-E', 'UTF-8', '-l', file], {
      encoding: 'utf8',
      env: { ...process.env, MANWIDTH: '400', MANPAGER: 'cat', LC_ALL: 'C.UTF-8' },
    })
    const lines = new Set(stdout.split('\n').map((line) => line.trim().replace(/ {2,}/g, ' ')))
    const { commands, groups } = await commandSet()
    const specs: readonly CommandSpec[] = [...commands, ...groups.flatMap((each) => each.commands)]
    const expected = specs.flatMap((spec) => [...usages(spec), ...spec.examples])

    expect(stderr).toBe('')
    expect(expected.map(plain).filter((line) => !lines.has(line))).toEqual([])
    for (const { options } of specs) {
      for (const name of Object.keys(options)) expect(stdout).toContain(`--${name}`)
    }
  })
})

test('text of a command cannot become a macro or an escape sequence', () => {
  expect(text('.so /etc/passwd')).toBe('\\&.so /etc/passwd')
  expect(text("'br")).toBe("\\&'br")
  expect(literal("a\\b 'c' --d ~ …")).toBe('a\\eb \\(aqc\\(aq \\-\\-d \\(ti \\[u2026]')
})

function plain(line: string): string {
  return line.trim().replace(/ {2,}/g, ' ')
}

function hasProgram(program: string): boolean {
  return spawnSync(program, ['--version']).error === undefined
}

function leftOut(what: string, name: string): void {
  console.warn(`left out: ${what}; it needs ${name} (Debian: apt-get install ${name})`)
}
