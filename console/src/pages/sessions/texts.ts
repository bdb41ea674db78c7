import { plural } from '../../lib/plural.ts'

const en = {
  about: 'Who is logged in. Tokens of service accounts and of other issuers are not sessions.',
  user: 'User',
  userExample: 'name or ID',
  refresh: 'Refresh',
  found: (shown: number, total: number) =>
    shown === total
      ? plural('en', total, { one: '1 session', other: `${total} sessions` })
      : `${shown} of ${total} sessions, those seen last`,
  nothing: 'No sessions',
  address: 'Address',
  client: 'Client',
  seen: 'Last seen',
  issued: 'Logged in',
  expires: 'Expires',
  change: 'Change',
  end: 'End',
  endTitle: (name: string) => `End a session of ${name}`,
  endEffect: (name: string, address: string) =>
    `Every gateway refuses the token that ${name} got at ${address} within a second.`,
}

const zh: typeof en = {
  about: '当前登录的人员。服务账号和其他签发方的令牌不是会话。',
  user: '用户',
  userExample: '名称或 ID',
  refresh: '刷新',
  found: (shown, total) =>
    shown === total ? `${total} 个会话` : `${total} 个会话中最近活动的 ${shown} 个`,
  nothing: '没有会话',
  address: '地址',
  client: '客户端',
  seen: '最近活动',
  issued: '登录时间',
  expires: '到期时间',
  change: '操作',
  end: '结束',
  endTitle: (name) => `结束 ${name} 的一个会话`,
  endEffect: (name, address) => `所有网关会在一秒内拒绝 ${name} 在 ${address} 获得的令牌。`,
}

export const texts = { en, zh }
