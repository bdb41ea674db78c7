import { formatNumber } from '../../lib/numbers.ts'
import { plural } from '../../lib/plural.ts'

const en = {
  about:
    'What each role may do with each operation that a rule, an exclusion or an OpenAPI document names.',
  operations: 'Filter operations',
  roles: 'Filter roles',
  view: 'Show',
  views: {
    all: 'All operations',
    everyone: 'Open to everyone',
    admin: 'Only admin',
    nobody: 'Nobody: the gateway refuses them',
    unserved: 'Rules without a route',
    routes: 'Routes without a rule',
  },
  count: (operations: number, roles: number) =>
    `${plural('en', operations, { one: '1 operation', other: `${formatNumber(operations)} operations` })}, ${plural('en', roles, { one: '1 role', other: `${formatNumber(roles)} roles` })}`,
  caption: 'Roles and operations',
  operation: 'Operation',
  access: 'Access',
  legend: 'Legend',
  help: 'Arrow keys move, Enter explains the cell.',
  cells: {
    allowed: 'allowed by its own rule',
    inherited: 'allowed by an inherited rule',
    everyone: 'no permission needed',
    superuser: 'the matcher allows it every call',
    admin: 'admin needs no rule',
    partly: 'some of the calls',
    'partly inherited': 'some of the calls, inherited',
    'partly everyone': 'some of the calls, without a permission',
    denied: 'denied by a rule',
    no: 'no rule allows it',
  },
  nothing: 'No operation matches',
  nothingHint: 'Change the filters.',
  none: 'None.',
  route: 'Route',
  unservedAbout: 'No route serves these paths: with permission, the gateway answers 404.',
  nobodyAbout: 'The gateway refuses these calls to every caller, admin included.',
  routesAbout:
    'These routes need a permission, and no rule is about them: only admin gets through.',
}

const zh: typeof en = {
  about: '每个角色可以对规则、豁免项或 OpenAPI 文档提到的每个操作做什么。',
  operations: '筛选操作',
  roles: '筛选角色',
  view: '显示',
  views: {
    all: '所有操作',
    everyone: '对所有人开放',
    admin: '仅 admin',
    nobody: '任何人都不可以：网关拒绝',
    unserved: '没有路由的规则',
    routes: '没有规则的路由',
  },
  count: (operations, roles) => `${formatNumber(operations)} 个操作，${formatNumber(roles)} 个角色`,
  caption: '角色与操作',
  operation: '操作',
  access: '访问要求',
  legend: '图例',
  help: '方向键移动，回车键解释单元格。',
  cells: {
    allowed: '自有规则允许',
    inherited: '继承的规则允许',
    everyone: '不需要权限',
    superuser: '匹配器允许所有请求',
    admin: 'admin 不需要规则',
    partly: '部分请求',
    'partly inherited': '部分请求（继承）',
    'partly everyone': '部分请求（不需要权限）',
    denied: '规则拒绝',
    no: '没有规则允许',
  },
  nothing: '没有匹配的操作',
  nothingHint: '请更改筛选条件。',
  none: '无。',
  route: '路由',
  unservedAbout: '没有路由提供这些路径：即使有权限，网关也返回 404。',
  nobodyAbout: '网关拒绝所有人的这些请求，包括 admin。',
  routesAbout: '这些路由需要权限，但没有规则涉及它们：只有 admin 可以访问。',
}

export const texts = { en, zh }
