import { loadScript } from '../redis/redis.ts'

export const forgetFunction = loadScript(new URL('./lua/forget.lua', import.meta.url))
export const hitScript = loadScript(new URL('./lua/count-hits.lua', import.meta.url))
export const takeBackScript = loadScript(new URL('./lua/take-back-hits.lua', import.meta.url))
