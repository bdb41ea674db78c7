import { Type } from 'typebox'
import { HOST_HEADER, REQUEST_TARGET, SERVER_NAME } from './patterns.ts'
import { DAY_MS, file, flag, integer, section, text } from './setting-forms.ts'

/** A service behind Postern. */
export const upstream = Type.Object(
  {
    targets: Type.Array(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        description:
          'One server of the upstream: scheme, host and port, such as http://orders:8080.',
      }),
      {
        minItems: 1,
        maxItems: 256,
        uniqueItems: true,
        description: 'The servers of this upstream, each one scheme, host and port.',
      },
    ),
    host: text(
      'target',
      'The Host header that goes out: target (its own), client (what the client asked for), or a fixed name.',
      HOST_HEADER,
    ),
    tls: Type.Optional(
      Type.Object(
        {
          caFile: Type.Optional(
            file('PEM certificates that may vouch for a target, instead of those of the system.'),
          ),
          certFile: Type.Optional(
            file('Our own PEM certificate with its chain, for a target that asks for one.'),
          ),
          keyFile: Type.Optional(file('The PEM private key of that certificate.')),
          serverName: Type.Optional(
            Type.String({
              maxLength: 253,
              pattern: SERVER_NAME,
              description: "The name that a certificate must have, where it is not the target's.",
            }),
          ),
        },
        {
          additionalProperties: false,
          description: 'How https targets are verified, which they always are.',
        },
      ),
    ),
    connections: integer(512, 1, 65_536, 'The most connections Postern opens to one target.'),
    keepAlive: flag(
      true,
      'Whether connections to a target are used for more than one request; false sends Connection: close with each.',
    ),
    maxShare: integer(
      50,
      1,
      100,
      'The most of these connections, in percent, that requests of one caller may use at a time, or of one address without a token; further ones wait for queueTimeoutMs. 100: no limit.',
    ),
    requestBufferBytes: integer(
      65_536,
      0,
      1_048_576,
      'How much of a request body Postern reads before it takes a connection; shorter bodies are read whole. 0: none of it, so that each piece is forwarded as it comes.',
    ),
    tunnels: integer(
      4096,
      1,
      65_536,
      'The most WebSockets and other upgraded connections to one target.',
    ),
    connectTimeoutMs: integer(3000, 1, DAY_MS, 'How long connecting to a target may take.'),
    headersTimeoutMs: integer(30_000, 1, DAY_MS, 'How long a target may take to begin its answer.'),
    bodyTimeoutMs: integer(
      60_000,
      1,
      DAY_MS,
      'How long a target may pause within its answer, or in taking a body.',
    ),
    queueTimeoutMs: integer(5000, 1, DAY_MS, 'How long a request may wait for a free connection.'),
    balance: Type.Enum(['round-robin', 'least-outstanding'], {
      default: 'round-robin',
      description: 'Which target a request goes to: the next, or the one with the least to do.',
    }),
    retries: integer(
      1,
      0,
      10,
      'How often to repeat a GET, HEAD, OPTIONS, PUT or DELETE without a body whose connection broke. Requests that no target can have seen are sent again in any case.',
    ),
    dnsSeconds: integer(
      10,
      0,
      86_400,
      'How often the addresses behind the name of a target are looked up; each one is a target. 0: never.',
    ),
    breaker: section('When a target that fails is left alone.', {
      failures: integer(5, 1, 10_000, 'After how many failures in a row.'),
      openMs: integer(
        1000,
        10,
        DAY_MS,
        'For how long, before a request tries again. A target that could not be reached is tried as soon as it accepts connections.',
      ),
      maxOpenMs: integer(
        30_000,
        10,
        DAY_MS,
        'For how long at most; each try that fails doubles it, while another target serves.',
      ),
    }),
    healthCheck: Type.Optional(
      Type.Object(
        {
          path: Type.String({
            minLength: 1,
            maxLength: 1024,
            pattern: REQUEST_TARGET,
            description: 'What is asked for with GET; any status below 400 is a good answer.',
          }),
          intervalMs: integer(5000, 100, DAY_MS, 'How long between two checks.'),
          timeoutMs: integer(2000, 10, DAY_MS, 'How long an answer may take.'),
          healthyAfter: integer(2, 1, 100, 'After how many good answers a target is used again.'),
          unhealthyAfter: integer(3, 1, 100, 'After how many bad ones it is left out.'),
        },
        {
          additionalProperties: false,
          description: 'Asks every target whether it is well; without it nobody asks.',
        },
      ),
    ),
  },
  { additionalProperties: false, description: 'A service that calls are forwarded to.' },
)
