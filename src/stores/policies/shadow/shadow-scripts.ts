import { loadScript } from '../../redis/redis.ts'
import { sequenceFunction, shadowFunctions } from '../document/publish-script.ts'

const forgetFunction = loadScript(new URL('./lua/forget-document.lua', import.meta.url))
export const pushShadowScript = loadScript(new URL('./lua/push-shadow.lua', import.meta.url), {
  sequenceFunction,
  shadowFunctions,
  forgetFunction,
})
export const endShadowScript = loadScript(new URL('./lua/end-shadow.lua', import.meta.url), {
  shadowFunctions,
  forgetFunction,
})
export const reportShadowScript = loadScript(new URL('./lua/report-shadow.lua', import.meta.url))
