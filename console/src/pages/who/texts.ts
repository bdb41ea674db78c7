import type { AccountCount } from '#client'
import { plural } from '../../lib/plural.ts'

const en = {
  about: 'Who may make a call: roles with their rules, and what lets everyone through.',
  ask: 'Ask',
  start: 'Name a call',
  startHint: 'For example: who can DELETE /api/v1/orders/7?',
  summary: {
    none: (call: string) => `The gateway refuses ${call} to everyone.`,
    roles: (call: string, count: number) =>
      plural('en', count, {
        one: `1 role besides admin may ${call}.`,
        other:
          count === 0 ? `Only admin may ${call}.` : `${count} roles besides admin may ${call}.`,
      }),
    authenticated: (call: string) => `Every authenticated caller may ${call}.`,
    everyone: (call: string) => `Everyone may ${call}, also without a token.`,
  },
  route: 'Route',
  noRoute: 'no route serves this path: the gateway answers 404',
  routeAccess: 'Access',
  access: {
    permitted: 'needs a permission',
    authenticated: 'any authenticated caller',
    public: 'everyone',
  },
  upstream: 'Upstream',
  endpoint: 'Endpoint of the gateway',
  exclusion: 'Exclusion',
  reason: 'Reason',
  admin: 'Role admin',
  adminMay: 'may make every call that the gateway does not refuse',
  adminMayNot: 'may not: the gateway refuses this call',
  accountsTitle: 'Accounts',
  accounts: ({ enabled, disabled }: AccountCount) =>
    disabled === 0 ? `${enabled}` : `${enabled} (${disabled} disabled)`,
  accountCount: ({ enabled }: AccountCount) =>
    plural('en', enabled, { one: '1 account', other: `${enabled} accounts` }),
  unknown: 'not known',
  roles: 'Roles that may',
  superusers: 'Roles that may make every call',
  clause: 'Clause of the matcher',
  denied: 'Roles that a deny rule keeps out',
  also: (count: number) =>
    plural('en', count, { one: 'and 1 more rule', other: `and ${count} more rules` }),
  otherMethods: 'Rules for other methods of this path',
  explain: 'Explain',
}

const zh: typeof en = {
  about: '谁可以发起某个请求：角色及其规则，以及对所有人放行的设置。',
  ask: '查询',
  start: '请指定请求',
  startHint: '例如：谁能 DELETE /api/v1/orders/7？',
  summary: {
    none: (call) => `网关拒绝所有人 ${call}。`,
    roles: (call, count) =>
      count === 0 ? `只有 admin 可以 ${call}。` : `除 admin 外有 ${count} 个角色可以 ${call}。`,
    authenticated: (call) => `任何已登录的调用者都可以 ${call}。`,
    everyone: (call) => `所有人都可以 ${call}，无需令牌。`,
  },
  route: '路由',
  noRoute: '没有路由提供该路径：网关返回 404',
  routeAccess: '访问要求',
  access: {
    permitted: '需要权限',
    authenticated: '任何已登录的调用者',
    public: '所有人',
  },
  upstream: '上游',
  endpoint: '网关自身的端点',
  exclusion: '豁免项',
  reason: '理由',
  admin: 'admin 角色',
  adminMay: '可以发起网关不拒绝的所有请求',
  adminMayNot: '不可以：网关拒绝该请求',
  accountsTitle: '账号数',
  accounts: ({ enabled, disabled }) =>
    disabled === 0 ? `${enabled}` : `${enabled}（${disabled} 个已停用）`,
  accountCount: ({ enabled }) => `${enabled} 个账号`,
  unknown: '未知',
  roles: '可以访问的角色',
  superusers: '可以发起所有请求的角色',
  clause: '匹配器子句',
  denied: '被拒绝规则排除的角色',
  also: (count) => `另有 ${count} 条规则`,
  otherMethods: '该路径其他方法的规则',
  explain: '解释',
}

export const texts = { en, zh }
