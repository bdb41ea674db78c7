import { useId } from 'preact/hooks'
import { type Language, language, type Theme, theme } from '../state/preferences.ts'
import { useStore } from '../state/store.ts'
import { commonTexts, useTexts } from '../texts/texts.ts'

/** Switches language and theme. Each language is named in itself, for readers who know no other. */
export function Preferences() {
  const texts = useTexts(commonTexts)
  const [languageId, themeId] = [useId(), useId()]
  return (
    <div class="preferences">
      <label class="hidden" for={languageId}>
        {texts.language}
      </label>
      <select
        id={languageId}
        value={useStore(language)}
        onChange={(event) => language.set(event.currentTarget.value as Language)}
      >
        <option value="en">English</option>
        <option value="zh">中文</option>
      </select>
      <label class="hidden" for={themeId}>
        {texts.theme}
      </label>
      <select
        id={themeId}
        value={useStore(theme)}
        onChange={(event) => theme.set(event.currentTarget.value as Theme)}
      >
        <option value="system">{texts.themes.system}</option>
        <option value="light">{texts.themes.light}</option>
        <option value="dark">{texts.themes.dark}</option>
      </select>
    </div>
  )
}
