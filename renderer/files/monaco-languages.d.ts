/** A language's rules, which the package ships without types. */
declare module 'monaco-editor/languages/definitions/javascript/javascript.js' {
  import type { languages } from 'monaco-editor/editor/editor.api.js'

  export const conf: languages.LanguageConfiguration
  export const language: languages.IMonarchLanguage
}
