/** Every change that the audit log records. A subject is a name or an ID, never a secret. */
export const auditActions = [
  'role.add',
  'role.set',
  'role.remove',
  'user.add',
  'user.delete',
  'user.disable',
  'user.enable',
  'user.password',
  'user.rename',
  'user.role',
  'login.unlock',
  'session.end',
  'service.add',
  'service.remove',
  'service.role',
  'token.issue',
  'token.revoke',
  'keys.generate',
  'keys.load',
  'keys.use',
  'policy.load',
  'policy.promote',
  'policy.push',
  'policy.rollback',
] as const

export type AuditAction = (typeof auditActions)[number]
