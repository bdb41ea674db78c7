import { CLAIM_NAME, KEY_LINE, PRINTABLE, REDIS_URL } from './patterns.ts'
import {
  choice,
  directory,
  file,
  flag,
  integer,
  list,
  milliseconds,
  optionalFile,
  optionalGroup,
  optionalInteger,
  optionalString,
  section,
  string,
  TEN_YEARS_SECONDS,
} from './setting-builders.ts'
import { Type } from './type.ts'

export const redisSettings = section(
  'Redis, for published policies and for the state that replicas share.',
  {
    url: optionalString(
      { maxLength: 4096, pattern: REDIS_URL, writeOnly: true },
      'Redis URL: redis://host:6379/0, redis+sentinel://h1,h2/master or redis+cluster://h1,h2; rediss uses TLS. Unset: Redis is not used.',
    ),
    prefix: string(
      { default: '{postern}:', minLength: 1, maxLength: 128, pattern: PRINTABLE },
      'Prefix of every key. Its hash tag, in braces, keeps the keys on one node of a cluster.',
    ),
    commandTimeoutMs: integer(
      { default: 300, from: 10, to: 60_000 },
      'Timeout of one command, in milliseconds. Commands that transfer a whole policy have ten times as long.',
    ),
    connectTimeoutMs: milliseconds(1500, 10, 'Timeout for connecting to Redis'),
  },
)

export const policySettings = section('Policy: what each role may do.', {
  source: choice(
    ['files', 'redis'],
    'Source of the policy. files: policy.directory; redis: what "postern policy push" published.',
  ),
  directory: directory(
    'policies',
    'Directory with model.conf, the rules and exclusions.yaml. Watched for changes.',
  ),
  openapi: list(
    file('Path of an OpenAPI document.'),
    { default: [], maxItems: 100 },
    'OpenAPI documents of the services, as file paths. "postern policy names", "policy matrix" and the console also list their operations. Not used for decisions. Default: none.',
  ),
  pollSeconds: integer(
    { default: 3, from: 1, to: 5 },
    'Interval at which the source is polled for changes whose notification was lost, in seconds.',
  ),
  snapshot: optionalFile(
    'File that keeps the last good policy, to start with while Redis is unreachable. Unset: no snapshot.',
  ),
  usage: flag(
    true,
    'Count which rules decide and what is refused, for "postern policy unused" and "postern policy denials". Stored in Redis, or in the database without Redis, for 90 days.',
  ),
  maxAge: optionalInteger(
    { from: 10, to: TEN_YEARS_SECONDS },
    'Stop using a policy that its source has not confirmed for this many seconds. Unset: never.',
  ),
  domain: optionalGroup(
    'Where the domain of a request comes from, under a model with "r = sub, dom, obj, act". Unset: the model has no domain.',
    {
      from: Type.Enum(['host', 'claim'], {
        description:
          'Source of the domain. host: the host of the request, in lower case and without port; claim: policy.domain.claim.',
      }),
      claim: optionalString(
        { minLength: 1, maxLength: 256, pattern: CLAIM_NAME },
        'Claim of the token with the domain, a text: its name, or a JSON pointer such as /org/id. Required with from "claim". Unset: only with from "host".',
      ),
    },
  ),
  trust: optionalGroup(
    'Whose signatures a policy from Redis needs. Unset: a gateway uses what Redis contains, signed or not.',
    {
      keys: Type.Array(
        string(
          { minLength: 1, maxLength: 1024, isPath: true, noPath: KEY_LINE },
          'Public key as in a .pub file, "ssh-ed25519 AAAA… NAME", or the path of a file with such lines.',
        ),
        {
          minItems: 1,
          maxItems: 100,
          description: 'Keys whose signatures count. Each key, and each name, appears once.',
        },
      ),
      signatures: integer(
        { default: 1, from: 1, to: 32 },
        'How many of the keys must have signed a policy before a gateway uses it.',
      ),
    },
  ),
  follow: optionalGroup(
    'Keep policy.csv in policy.directory equal to the Casbin table of go-admin. Exclusions, model, other tables and tests stay yours. For one machine; with policy.source redis, run "postern policy follow database". Unset: not followed.',
    {
      database: flag(
        true,
        "Follow the Casbin table in go-admin's database (database.url), and write changes to policy.csv in policy.directory.",
      ),
      intervalMs: integer(
        { default: 3000, from: 500, to: 600_000 },
        'Interval of the comparison, in milliseconds.',
      ),
      table: Type.Optional(
        Type.Enum(['casbin_rule', 'sys_casbin_rule'], {
          description: 'Table to follow. Unset: the one that has rows.',
        }),
      ),
    },
  ),
  replicaMemory: integer(
    { default: 86_400, from: 60, to: TEN_YEARS_SECONDS },
    'Forget a replica that has not reported for this long, in seconds. Until then it is listed as lost, and "postern policy push" fails. Use the same value on all gateways.',
  ),
})
