import { readFileSync } from 'node:fs'

export type SpokenLanguage = 'en' | 'zh'

const sampleRate = 8000
const headerBytes = 44

/**
 * A WAV file in which the text is spoken over noise, with varied speed, loudness and gaps. All variation
 * comes from `noise`, so that one captcha has one recording.
 */
export function speakText(text: string, language: SpokenLanguage, noise: Buffer): Buffer {
  const roll = createRoll(noise)
  const samples = speechSamples()
  const gap = () => new Float64Array(Math.round(sampleRate * (0.35 + roll() * 0.45)))
  const parts: Float64Array[] = [gap()]
  for (const name of [...text].flatMap(spokenNames)) {
    const sample = samples[language][name] ?? samples.en[name] ?? ''
    parts.push(varied(decode(sample), 0.9 + roll() * 0.2, 0.6 + roll() * 0.35), gap())
  }
  return toWav(parts, roll)
}

/** Captchas with letters compare exactly, so the recording says which are capitals. */
function spokenNames(character: string): readonly string[] {
  const lower = character.toLowerCase()
  return lower === character ? [lower] : ['capital', lower]
}

/** xorshift32: fast, and the seed is secret. */
function createRoll(noise: Buffer): () => number {
  let state = noise.readUInt32LE(0) || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 0x1_0000_0000
  }
}

/** ITU-T G.711 mu-law, to numbers between -1 and 1. */
function decode(base64: string): Float64Array {
  return Float64Array.from(Buffer.from(base64, 'base64'), (byte) => {
    const bits = ~byte & 0xff
    const magnitude = ((((bits & 0x0f) << 3) + 132) << ((bits >> 4) & 7)) - 132
    return (bits & 0x80 ? -magnitude : magnitude) / 32_768
  })
}

function varied(sample: Float64Array, speed: number, volume: number): Float64Array {
  const length = Math.floor(sample.length / speed)
  return Float64Array.from({ length }, (_, at) => (sample[Math.floor(at * speed)] ?? 0) * volume)
}

function toWav(parts: readonly Float64Array[], roll: () => number): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const wav = Buffer.alloc(headerBytes + length * 2)
  wav.write('RIFF', 0)
  wav.writeUInt32LE(wav.length - 8, 4)
  wav.write('WAVEfmt ', 8)
  wav.writeUInt32LE(16, 16)
  wav.writeUInt16LE(1, 20) // PCM
  wav.writeUInt16LE(1, 22) // mono
  wav.writeUInt32LE(sampleRate, 24)
  wav.writeUInt32LE(sampleRate * 2, 28)
  wav.writeUInt16LE(2, 32)
  wav.writeUInt16LE(16, 34)
  wav.write('data', 36)
  wav.writeUInt32LE(length * 2, 40)
  let at = headerBytes
  let hum = 0
  for (const part of parts) {
    for (const value of part) {
      hum = hum * 0.7 + (roll() - 0.5) * 0.08
      wav.writeInt16LE(Math.round(Math.max(-1, Math.min(1, value * 0.8 + hum)) * 32_000), at)
      at += 2
    }
  }
  return wav
}

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
