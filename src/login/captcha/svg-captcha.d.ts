// The package's own types leave out the one function that we call, and offer those that take the
// text from Math.random; this declaration does the reverse.
declare module 'svg-captcha' {
  function svgCaptcha(
    text: string,
    options: {
      readonly width: number
      readonly height: number
      readonly fontSize: number
      readonly noise: number
    },
  ): string
  export = svgCaptcha
}
