import { readFileSync } from 'node:fs'

type SpeechSamples = Readonly<Record<'en' | 'zh', Readonly<Record<string, string>>>>

let samples: SpeechSamples | undefined

/**
 * Spoken digits and letters: 8 kHz mu-law (ITU-T G.711), base64. Made once with eSpeak NG (voices en and
 * cmn, speed 150), cut and brought to one volume. Letters have their English names in both languages.
 */
export function speechSamples(): SpeechSamples {
  samples ??= JSON.parse(
    readFileSync(new URL('./speech-samples.json', import.meta.url), 'utf8'),
  ) as SpeechSamples
  return samples
}
