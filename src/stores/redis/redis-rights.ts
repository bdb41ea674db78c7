import type { RedisClient } from './redis.ts'

/**
 * Every command that gateways and `postern policy` send, with arguments of the right number. The ACL
 * line in docs/stores.md grants these, and EVAL.
 */
export function sentCommands(prefix: string): readonly (readonly string[])[] {
  const key = `${prefix}doctor`
  const texts = [
    ...['ping', 'info', 'time', 'wait 0 0'],
    ...['subscribe KEY', 'unsubscribe KEY', 'publish KEY v'],
    ...['get KEY', 'set KEY v', 'del KEY', 'exists KEY', 'getrange KEY 0 0', 'mget KEY'],
    ...['incrby KEY 1', 'pexpire KEY 1', 'pexpireat KEY 1', 'pttl KEY'],
    ...['hget KEY f', 'hgetall KEY', 'hmget KEY f', 'hset KEY f v', 'hsetnx KEY f v'],
    ...['hdel KEY f', 'hlen KEY', 'hscan KEY 0'],
    ...['lrange KEY 0 0', 'llen KEY', 'lpush KEY v', 'ltrim KEY 0 0'],
    ...['zadd KEY 1 m', 'zrem KEY m', 'zcard KEY', 'zscore KEY m', 'zrange KEY 0 0'],
    ...['zrevrange KEY 0 0', 'zrangebyscore KEY 0 0', 'zremrangebyscore KEY 0 0'],
    ...['xadd KEY * f v', 'xtrim KEY MAXLEN 0', 'xlen KEY', 'xack KEY g 0-1', 'xdel KEY 0-1'],
    ...['xreadgroup GROUP g c STREAMS KEY >', 'xautoclaim KEY g c 0 0'],
    ...['xgroup CREATE KEY g 0', 'xinfo STREAM KEY'],
  ]
  return texts.map((text) => text.split(' ').map((word) => (word === 'KEY' ? key : word)))
}

/** Asks the ACL, and runs none of the commands. Redis has this since 7.0. */
const script = `
  if redis.acl_check_cmd == nil then return false end
  local denied = {}
  for _, words in ipairs(cjson.decode(ARGV[1])) do
    if not redis.acl_check_cmd(unpack(words)) then denied[#denied + 1] = words[1] end
  end
  return denied`

/**
 * The commands that the ACL denies to this user, for keys and channels of our prefix. `undefined`: this
 * server cannot tell. Throws a Fault, also when EVAL itself is denied.
 */
export async function deniedCommands(redis: RedisClient): Promise<readonly string[] | undefined> {
  const { prefix } = redis
  const commands = JSON.stringify(sentCommands(prefix))
  const denied = await redis.runScript(script, [`${prefix}doctor`], [commands])
  return Array.isArray(denied) ? denied.map(String) : undefined
}
