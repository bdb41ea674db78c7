import { describe, expect, test } from 'vitest'
import { consoleFiles } from '../support/console-policy.ts'
import { folder, policy } from './policy-runner.ts'

const files = {
  ...consoleFiles,
  'policies/policy.csv': 'p, clerk, /orders, GET\np, =cmd(), /orders, GET\ng, lead, clerk\n',
}

describe('a spreadsheet', () => {
  test('of policy who has a line for each role, and no formula', async () => {
    const cwd = await folder(files)

    const { code, out } = await policy(['who', 'GET', '/orders', '--output', 'csv'], { cwd })

    expect(code).toBe(0)
    expect(out.split('\r\n')).toEqual([
      'role,may,by,effect,method,path,line,inherited from,until',
      'admin,yes,admin,,,,,,',
      `"'=cmd()",yes,rule,allow,GET,/orders,policies/policy.csv:2,,`,
      'clerk,yes,rule,allow,GET,/orders,policies/policy.csv:1,,',
      'lead,yes,inherited rule,allow,GET,/orders,policies/policy.csv:1,clerk,',
      '',
    ])
  })

  test('of policy can has a line for each rule, and with --compare for each difference', async () => {
    const cwd = await folder(files)

    const own = await policy(['can', 'lead', '--output', 'csv'], { cwd })
    const other = await policy(['can', 'lead', '--compare', '=cmd()', '--output', 'csv'], { cwd })
    const admin = await policy(['can', 'admin', '--output', 'csv'], { cwd })
    const more = await policy(['can', 'admin', '--compare', 'lead', '--output', 'csv'], { cwd })

    expect(own.out.split('\r\n')).toEqual([
      'role,route,result,effect,method,path,line,inherited from,until,example',
      'lead,/orders,allows,allow,GET,/orders,policies/policy.csv:1,clerk,,GET /orders',
      '',
    ])
    expect(other.out).toBe('only role,may,effect,method,path,line,inherited from,until,served\r\n')
    expect(admin.out.split('\r\n').slice(1)).toEqual([
      'admin,any route,allows everything,,,,,,,',
      '',
    ])
    expect(more.out.split('\r\n').slice(1)).toEqual(['admin,everything,,,,,,,', ''])
  })
})

describe('policy matrix --compact', () => {
  test('says the same as the long form, a letter for each role', async () => {
    const cwd = await folder(files)

    const long = JSON.parse((await policy(['matrix', '--output', 'json'], { cwd })).out)
    const compact = JSON.parse(
      (await policy(['matrix', '--output', 'json', '--compact'], { cwd })).out,
    )

    expect(compact.roles).toEqual(long.roles)
    for (const [at, { cells }] of long.operations.entries()) {
      const letters: string = compact.operations[at].cells
      const words = [...letters].map((letter) => compact.cells[letter])
      expect(words).toEqual(long.roles.map((role: string) => cells[role] ?? 'no'))
    }
  })

  test('is for JSON', async () => {
    const { code, err } = await policy(['matrix', '--compact'], { cwd: await folder(files) })

    expect([code, err.split('\n')[0]]).toEqual([2, 'postern: --compact is for --output json'])
  })
})
