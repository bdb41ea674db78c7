import type { Texts } from './texts.ts'

export const zh: Texts = {
  tag: 'zh-CN',
  ownName: '中文',
  languages: '语言',

  title: '登录',
  errorTitle: (title) => `错误：${title}`,
  username: '用户名',
  password: '密码',
  logIn: '登录',
  or: '或',
  logInWith: (provider) => `使用 ${provider} 登录`,

  captcha: '图中的字符',
  captchaSound: '录音中的字符',
  picture: '变形的字符。如果看不清，请选择“改用语音”。',
  recording: '验证码录音',
  newPicture: '换一张图片',
  newRecording: '换一段录音',
  listenInstead: '改用语音',
  lookInstead: '改用图片',

  otp: '动态验证码',
  otpHint: '身份验证器应用中的六位数字，或一个恢复码。',
  otpOptional: '如果您的账号没有启用，请留空。',

  loggedInAs: (name) => `您已登录为 ${name}。`,
  goOn: '继续',
  changePassword: '修改密码',
  logOut: '退出登录',
  loggedOut: '您已退出登录。',
  loggedOutHere: '您已在此处退出登录。其他服务器恢复连接后会立即生效。',
  stillLoggedInAt: (provider) => `您可能仍在 ${provider} 处于登录状态。`,
  logOutAt: (provider) => `同时退出 ${provider}`,
  logInAgain: '重新登录',
  logOutQuestion: '确定要退出登录吗？',

  oldPassword: '当前密码',
  newPassword: '新密码',
  newPasswordHint: '至少 8 个字符。几个词比几个符号更好。',
  passwordChanged: '密码已修改。您的其他登录已全部失效。',
  passwordChangedHere: '密码已修改。所有服务器恢复连接后，您的其他登录将失效。',

  missing: '请填写所有字段，然后重试。',
  missingPassword: '请输入当前密码和新密码。',
  wrongCaptcha: '验证码不正确，请输入新的验证码。',
  fromElsewhere: '该表单来自其他网站。请在此处登录。',
}
