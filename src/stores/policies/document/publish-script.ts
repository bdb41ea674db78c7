import { latestTime } from '../../latest-time.ts'
import { loadScript } from '../../redis/redis.ts'

export const sequenceFunction = loadScript(new URL('./lua/sequence-in.lua', import.meta.url), {
  latest: latestTime - 1,
})
export const timeFunction = loadScript(new URL('./lua/iso-time.lua', import.meta.url))
export const shadowFunctions = loadScript(new URL('./lua/shadow-named.lua', import.meta.url))
export const publishScript = loadScript(new URL('./lua/publish.lua', import.meta.url), {
  sequenceFunction,
  timeFunction,
  shadowFunctions,
})
