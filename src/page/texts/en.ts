export const en = {
  tag: 'en',
  ownName: 'English',
  languages: 'Language',

  title: 'Log in',
  errorTitle: (title: string) => `Error: ${title}`,
  username: 'User name',
  password: 'Password',
  logIn: 'Log in',
  or: 'or',
  logInWith: (provider: string) => `Log in with ${provider}`,

  captcha: 'Characters from the picture',
  captchaSound: 'Characters from the recording',
  picture: 'Distorted characters. If you cannot read them, choose "Listen instead".',
  recording: 'Recording of the characters',
  newPicture: 'New picture',
  newRecording: 'New recording',
  listenInstead: 'Listen instead',
  lookInstead: 'Show a picture instead',

  otp: 'One-time code',
  otpHint: 'Six digits from your authenticator app, or a recovery code.',
  otpOptional: 'Leave it empty if your account has none.',

  loggedInAs: (name: string) => `You are logged in as ${name}.`,
  goOn: 'Continue',
  changePassword: 'Change password',
  logOut: 'Log out',
  loggedOut: 'You are logged out.',
  loggedOutHere:
    'You are logged out here. Other servers learn of it as soon as they can be reached.',
  stillLoggedInAt: (provider: string) => `You may still be logged in at ${provider}.`,
  logOutAt: (provider: string) => `Log out at ${provider} too`,
  logInAgain: 'Log in again',
  logOutQuestion: 'Do you want to log out?',

  oldPassword: 'Current password',
  newPassword: 'New password',
  newPasswordHint: 'At least 8 characters. A few words are better than a few signs.',
  passwordChanged: 'Your password is changed. All your other logins have ended.',
  passwordChangedHere:
    'Your password is changed. Your other logins end as soon as all servers can be reached.',

  missing: 'Fill in every field, then try again.',
  missingPassword: 'Enter your current password and a new one.',
  wrongCaptcha: 'The characters did not match. Here are new ones.',
  fromElsewhere: 'This form was sent from another site. Log in here.',
} as const
