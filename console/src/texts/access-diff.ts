import { plural } from '../lib/plural.ts'

const roles = (count: number) =>
  plural('en', count, { one: '1 more role', other: `${count} more roles` })
const lines = (count: number) => plural('en', count, { one: '1 line', other: `${count} lines` })

const en = {
  widens: (gains: number, losses: number) =>
    losses === 0
      ? `Access widens: gains by ${lines(gains)}.`
      : `Access widens: gains by ${lines(gains)}, losses by ${lines(losses)}.`,
  narrows: (losses: number) => `Access narrows: losses by ${lines(losses)}.`,
  same: 'Nobody gains or loses access.',
  gains: 'Gains',
  losses: 'Losses',
  severities: {
    superuser: 'may do everything',
    unchecked: 'not checked',
    wide: 'wide',
    changing: 'changes data',
    reading: 'reads',
    uncertain: 'not certain',
    loss: 'loss',
  },
  inherits: (role: string, parent: string) => `${role} inherits from ${parent}`,
  until: 'until',
  now: 'Now',
  starts: 'From',
  noEffect: 'no route serves it',
  moreRoles: (count: number) => `and ${roles(count)}`,
}

const zh: typeof en = {
  widens: (gains, losses) =>
    losses === 0
      ? `权限扩大：${gains} 行增加权限。`
      : `权限扩大：${gains} 行增加权限，${losses} 行减少权限。`,
  narrows: (losses) => `权限缩小：${losses} 行减少权限。`,
  same: '权限没有变化。',
  gains: '增加',
  losses: '减少',
  severities: {
    superuser: '可以做任何事',
    unchecked: '不检查',
    wide: '范围很大',
    changing: '修改数据',
    reading: '读取',
    uncertain: '不确定',
    loss: '减少',
  },
  inherits: (role, parent) => `${role} 继承 ${parent}`,
  until: '截止',
  now: '现在',
  starts: '起始',
  noEffect: '没有路由提供',
  moreRoles: (count) => `另有 ${count} 个角色`,
}

/** The texts of an access diff, which several pages show. */
export const diffTexts = { en, zh }
