import { plural } from '../../lib/plural.ts'

const en = {
  about: 'Who changed what, from where and when. Postern never changes or deletes an entry.',
  all: 'All',
  actor: 'By',
  subject: 'Subject',
  action: 'Action',
  groups: {
    user: 'Accounts',
    role: 'Roles',
    session: 'Sessions',
    login: 'Lock-outs',
    service: 'Service accounts',
    token: 'Tokens',
    keys: 'Keys',
    policy: 'Policies',
  },
  since: 'Time',
  spans: { '1d': 'last day', '7d': 'last 7 days', '30d': 'last 30 days' },
  time: 'Time',
  from: 'From',
  change: 'Change',
  nothing: 'No changes match',
  found: (count: number) => plural('en', count, { one: '1 change', other: `${count} changes` }),
  newest: (count: number) => `the newest ${count}: narrow the search to see others`,
}

const zh: typeof en = {
  about: '谁在何时何地修改了什么。Postern 从不修改或删除记录。',
  all: '全部',
  actor: '操作者',
  subject: '对象',
  action: '操作',
  groups: {
    user: '账号',
    role: '角色',
    session: '会话',
    login: '锁定',
    service: '服务账号',
    token: '令牌',
    keys: '密钥',
    policy: '策略',
  },
  since: '时间',
  spans: { '1d': '最近一天', '7d': '最近 7 天', '30d': '最近 30 天' },
  time: '时间',
  from: '来源',
  change: '变更',
  nothing: '没有匹配的变更',
  found: (count) => `${count} 条变更`,
  newest: (count) => `最新 ${count} 条：请缩小范围以查看其他记录`,
}

export const texts = { en, zh }
