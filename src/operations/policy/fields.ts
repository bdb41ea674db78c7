/** By which callers say what a question about a policy is about. */
export const askedFields = {
  policies: {
    value: 'DIR',
    local: true,
    description:
      'policy directory to ask about, or a commit as git:REF or git:REF:PATH (default: the live revision if policy.source is redis, else policy.directory)',
  },
  revision: {
    value: 'REVISION|live',
    description: 'published policy to ask about: the live one or a revision of the history',
  },
  domain: {
    value: 'DOMAIN',
    once: true,
    description:
      "domain to ask about, under a model with one: Casbin's r = sub, dom, obj, act (if the host is the domain, --host is enough)",
  },
  at: {
    value: 'TIME',
    description:
      'answer for this date or time, such as 2026-12-01: lines that have expired by then do not count (default: now)',
  },
  host: {
    value: 'HOST',
    description:
      'answer for requests to this host, such as api.example.com (default: a host that no route names)',
  },
} as const

export const methodField = {
  value: 'METHOD',
  required: 'give the HTTP method',
  description: 'HTTP method, such as GET',
} as const

export const pathField = {
  ...{ value: 'PATH', required: 'give the path' },
  description: 'request path, or https://HOST/PATH; a query string is ignored',
} as const
