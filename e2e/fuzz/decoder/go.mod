module decoder

go 1.25
