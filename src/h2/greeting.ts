import { defaultWindow, FrameType, numberFrame, preface, Setting, settingsFrame } from './frames.ts'
import type { SessionSettings } from './session-events.ts'

/** What each side sends first (RFC 9113 3.4): its settings, and a wider window for the connection. */
export function greeting(
  role: 'server' | 'client',
  { maxStreams, streamWindow, connectionWindow, headerBytes }: SessionSettings,
): Buffer[] {
  const own =
    role === 'server'
      ? ([Setting.maxConcurrentStreams, maxStreams] as const)
      : ([Setting.enablePush, 0] as const)
  const settings = settingsFrame([
    own,
    [Setting.initialWindowSize, streamWindow],
    [Setting.maxHeaderListSize, headerBytes],
  ])
  const frames = role === 'server' ? [settings] : [preface, settings]
  const more = connectionWindow - defaultWindow
  if (more > 0) frames.push(numberFrame(FrameType.windowUpdate, 0, more))
  return frames
}
