// The straightforward way to do the same job in Go: gin, golang-jwt, casbin and the reverse proxy of
// the standard library, with gin's own log. RULES is a casbin policy, MODEL its model.
package main

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/casbin/casbin/v2"
	"github.com/gin-gonic/gin"
	"github.com/golang-jwt/jwt/v5"
)

type claims struct {
	Identity  int    `json:"identity"`
	RoleKey   string `json:"rolekey"`
	DataScope string `json:"datascope"`
	jwt.RegisteredClaims
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "version" {
		printVersions()
		return
	}
	upstream, err := url.Parse(os.Getenv("UPSTREAM"))
	if err != nil {
		log.Fatal(err)
	}
	enforcer, err := casbin.NewEnforcer(os.Getenv("MODEL"), os.Getenv("RULES"))
	if err != nil {
		log.Fatal(err)
	}

	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.Use(gin.Logger(), gin.Recovery(), check([]byte(os.Getenv("SECRET")), enforcer))
	engine.NoRoute(gin.WrapH(newProxy(upstream)))

	server := &http.Server{
		Addr:        "127.0.0.1:" + os.Getenv("PORT"),
		Handler:     engine,
		IdleTimeout: time.Hour,
	}
	if certificate := os.Getenv("CERTIFICATE"); certificate != "" {
		log.Fatal(server.ListenAndServeTLS(certificate, os.Getenv("KEY")))
	}
	log.Fatal(server.ListenAndServe())
}

// printVersions prints those of Go and of the packages that do the work.
func printVersions() {
	text := runtime.Version()
	build, _ := debug.ReadBuildInfo()
	for _, each := range build.Deps {
		switch each.Path {
		case "github.com/gin-gonic/gin", "github.com/casbin/casbin/v2", "github.com/golang-jwt/jwt/v5":
			text += ", " + strings.TrimPrefix(each.Path, "github.com/") + " " + each.Version
		}
	}
	fmt.Println(text)
}

// newProxy forwards to the upstream and keeps as many connections to it as the other peers do.
func newProxy(upstream *url.URL) http.Handler {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns = 1024
	transport.MaxIdleConnsPerHost = 1024
	transport.DisableCompression = true
	return &httputil.ReverseProxy{
		Rewrite:   func(request *httputil.ProxyRequest) { request.SetURL(upstream) },
		Transport: transport,
	}
}

// check verifies the token, asks casbin and replaces the credentials with identity headers.
func check(secret []byte, enforcer *casbin.Enforcer) gin.HandlerFunc {
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"HS256"}), jwt.WithExpirationRequired())
	return func(context *gin.Context) {
		request := context.Request
		token, found := strings.CutPrefix(request.Header.Get("Authorization"), "Bearer ")
		var caller claims
		_, err := parser.ParseWithClaims(token, &caller, func(*jwt.Token) (any, error) {
			return secret, nil
		})
		if !found || err != nil {
			context.AbortWithStatusJSON(401, gin.H{"code": 401, "msg": "not logged in"})
			return
		}
		allowed, err := enforcer.Enforce(caller.RoleKey, request.URL.Path, request.Method)
		if err != nil || !allowed {
			context.AbortWithStatusJSON(403, gin.H{"code": 403, "msg": "not permitted"})
			return
		}
		request.Header.Del("Authorization")
		request.Header.Set("X-User-Id", fmt.Sprint(caller.Identity))
		request.Header.Set("X-Role-Key", caller.RoleKey)
		request.Header.Set("X-Data-Scope", caller.DataScope)
	}
}
